// All that was seen of one history → what the bridges did wrong; shares no code with the product.
import { machineName } from '../history.ts';
import type { Observation } from '../observation.ts';
import type { Played } from '../world.ts';
import { judgeAnswers } from './answers.ts';
import { judgeApprovalEvents } from './approval-events.ts';
import { judgeStarts } from './approval-of-start.ts';
import { Approvals } from './approvals.ts';
import type { Changes } from './changes.ts';
import { judgeChanges } from './changes-of-machine.ts';
import { judgeDeliveries } from './deliveries.ts';
import type { Observer } from './expected-cloud-event.ts';
import type { Finding, Report } from './finding.ts';
import { PossibleApprovals } from './possible-approvals.ts';
import { judgeSight } from './sight.ts';

export function judge({
  history,
  observations,
  resourceIds,
}: Pick<Played, 'history' | 'observations' | 'resourceIds'>): readonly Finding[] {
  const findings: Finding[] = [];
  const [settings] = history.settings;
  if (settings === undefined) return findings;
  for (let machine = 0; machine < history.machines; machine++) {
    const report: Report = (fault, atMs, what) => findings.push({ fault, machine, atMs, what });
    const seen = observations.filter((each) => each.machine === machine);
    const approvals = new Approvals(machineName(machine), settings, report);
    const possible = new PossibleApprovals(settings);
    const follow = (each: Observation, open: Changes['open']) => {
      approvals.see(each, open);
      possible.see(
        each,
        [...open.values()].map(({ event }) => event),
      );
    };
    const observer = observerOf(machine, resourceIds[machine] ?? '');
    judgeChanges(seen, settings, observer, (key) => possible.has(key), report, follow);
    judgeApprovalEvents(seen, approvals, settings.publish.resources, report);
    judgeStarts(seen, approvals, report);
    judgeAnswers(seen, settings, report);
    judgeDeliveries(seen, settings, report);
    judgeSight(seen, report);
  }
  return findings;
}

/** The machines are members of one scale set, which is the source of their CloudEvents. */
function observerOf(machine: number, resourceId: string): Observer {
  return { name: machineName(machine), source: resourceId.toLowerCase().replace(/\/virtualmachines\/[^/]+$/, '') };
}
