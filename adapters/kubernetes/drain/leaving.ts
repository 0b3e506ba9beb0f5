// The pods of a node → those that a drain sends away. Pure.
import type { Pod } from '../api/objects.ts';

export interface LeavingRules {
  readonly deleteEmptyDirData: boolean;
  readonly force: boolean;
}

/** Pods of DaemonSets, mirrors of static pods and those that have finished are no work of the node that could go elsewhere. */
export function isWork({ controller, isMirror, isFinished }: Pod): boolean {
  return controller !== 'DaemonSet' && !isMirror && !isFinished;
}

/** Of the work: whether the configuration lets it be evicted. */
export function mayLeave({ controller, hasEmptyDir }: Pod, { deleteEmptyDirData, force }: LeavingRules): boolean {
  return (deleteEmptyDirData || !hasEmptyDir) && (force || controller !== null);
}
