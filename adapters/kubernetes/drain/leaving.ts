// The pods of a node → those that a drain evicts. Pure.
import type { Pod } from '../api/objects.ts';

export interface LeavingRules {
  readonly deleteEmptyDirData: boolean;
  readonly force: boolean;
}

/** Excludes pods of DaemonSets, mirrors of static pods and finished pods, which cannot move to another node. */
export function isWork({ controller, isMirror, isFinished }: Pod): boolean {
  return controller !== 'DaemonSet' && !isMirror && !isFinished;
}

/** Returns whether the configuration allows the eviction of the pod. */
export function mayLeave({ controller, hasEmptyDir }: Pod, { deleteEmptyDirData, force }: LeavingRules): boolean {
  return (deleteEmptyDirData || !hasEmptyDir) && (force || controller !== null);
}
