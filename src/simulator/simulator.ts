// Requests to one simulated machine's port → answers, without sockets: its metadata service, and the control of its group.
import { problem, type SimAnswer, type SimRequest } from './answer.ts';
import { answerControl, isControlRoute } from './control-routes.ts';
import { misbehave } from './faults.ts';
import { Group, type SimulatorDeps } from './group.ts';
import { answerMetadata, isMetadataRoute } from './metadata-routes.ts';

export interface SimulatorOptions {
  readonly deps: SimulatorDeps;
  /** `sim_0` by default; a name that ends in `_` and digits is a scale set's member. */
  readonly vmName?: string;
  /** Simulated seconds a second; 1 by default. */
  readonly speed?: number;
}

/** The metadata service of one VM, as the reference describes it and the contract's section 7 steers it. */
export class Simulator {
  readonly vmName: string;
  readonly group: Group;

  constructor({ deps, vmName = 'sim_0', speed = 1 }: SimulatorOptions) {
    this.vmName = vmName;
    this.group = new Group([vmName], speed, deps);
  }

  /** Never throws, whatever is asked. */
  handle(request: SimRequest): SimAnswer {
    const nowMs = this.group.catchUp();
    if (isMetadataRoute(request.url)) return this.#metadata({ ...request, headers: lowerCased(request.headers) }, nowMs);
    if (isControlRoute(request.url)) return answerControl(this.group, request, nowMs);
    return problem({ status: 404, detail: 'Here are /metadata and /simulator.' });
  }

  #metadata(request: SimRequest, nowMs: number): SimAnswer {
    const order = this.group.faults.take(this.vmName, request.method);
    const usual = answerMetadata(this.group, this.vmName, request, nowMs, order === null);
    const answer = order ? misbehave(usual, order) : usual;
    this.group.journal.add({
      at: new Date(nowMs).toISOString(),
      vm: this.vmName,
      method: request.method,
      path: request.url,
      headers: request.headers as Readonly<Record<string, string>>,
      body: new TextDecoder().decode(request.body),
      status: answer.reset ? null : answer.status,
    });
    return answer;
  }
}

function lowerCased(headers: SimRequest['headers']): SimRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value]])));
}
