// A CloudEvent's attributes and data → one sentence in plain English, in one line (behaviour 9.1).
import type { JsonObject } from '../formats/json-object.ts';
import { isObject } from '../formats/json-object.ts';
import { asBlanks } from '../formats/visible-text.ts';
import { CHANGE_NAMES, type ChangeName } from '../model/change-names.ts';

/** The words that operators use for an impact. */
const WORDS_OF_IMPACT: ReadonlyMap<string, readonly [verb: string, noun: string]> = new Map([
  ['freeze', ['freeze', 'freeze']],
  ['reboot', ['reboot', 'reboot']],
  ['redeploy', ['redeploy', 'redeployment']],
  ['preempt', ['evict', 'eviction']],
  ['terminate', ['terminate', 'termination']],
]);

type Attributes = Readonly<Record<string, string | number | boolean>>;
type Sentence = (data: JsonObject, attributes: Attributes) => string;

const SENTENCES: Readonly<Record<ChangeName, Sentence>> = {
  scheduled: (data) => `${sourceOf(data)} will ${actionOf(data)}, ${whenOf(data)}${afterColon(data['description'])}`,
  updated: (data) =>
    `The ${maintenanceNounOf(data)} has changed${inBrackets(data['changedFields'])}${timeAndReason(data)}`,
  started: (data) => `${sourceOf(data)} has begun to ${actionOf(data)}${afterColon(data['description'])}`,
  ended: (data) => `The ${maintenanceNounOf(data)} is over${inBrackets(data['outcome'])}`,
  'approval.recorded': (data, attributes) => `The ${approvedMaintenance(data, attributes)} was approved${byWhom(data)}`,
  'approval.submitted': (data, attributes) =>
    `${isDrill(data) ? 'The bridge itself' : 'The metadata service'} has accepted the approval of the ${approvedMaintenance(data, attributes)}${byWhom(data)}`,
  'approval.failed': (data, attributes) =>
    `The approval of the ${approvedMaintenance(data, attributes)}${byWhom(data)} has failed${inBrackets(data['reason'])}`,
  'source.blind': (data) =>
    `The bridge on ${observerOf(data)} has had no good document of the metadata service since ${sinceOf(data)}${afterColon(data['reason'])}`,
  'source.restored': (data) =>
    `The bridge on ${observerOf(data)} has a good document of the metadata service again, the first since ${sinceOf(data)}`,
};

/**
 * Returns the change that a CloudEvent's type names, whatever its prefix, or null if it is not a type of the bridge.
 */
export function changeInType(type: string): ChangeName | null {
  return CHANGE_NAMES.find((name) => type.endsWith(`.${name}.v1`)) ?? null;
}

export function logMessage(attributes: Attributes, data: JsonObject): string {
  const type = String(attributes['type']);
  const change = changeInType(type);
  const sentence =
    change === null
      ? `A CloudEvent of the type ${type}${afterColon(data['description'])}`
      : SENTENCES[change](data, attributes);
  return asBlanks(isDrill(data) ? `Drill, nothing happens to a machine: ${sentence}` : sentence);
}

function isDrill(data: JsonObject): boolean {
  return data['drill'] === true;
}

function sourceOf(data: JsonObject): string {
  return textOf(data['eventSource']) || 'an unknown source';
}

function machinesOf(data: JsonObject): string {
  return listOf(data['resources'], ' and ') || 'no named machine';
}

/** Returns the words after "will". */
function actionOf(data: JsonObject): string {
  const type = textOf(data['eventType']);
  const verb = WORDS_OF_IMPACT.get(type.toLowerCase())?.[0] ?? `carry out ${maintenanceOf(type)} on`;
  return `${verb} ${machinesOf(data)}`;
}

/** Returns the words after "the". */
function maintenanceNounOf(data: JsonObject): string {
  const type = textOf(data['eventType']);
  const noun = WORDS_OF_IMPACT.get(type.toLowerCase())?.[1];
  return `${noun === undefined ? `${maintenanceOf(type)} on` : `${noun} of`} ${machinesOf(data)}`;
}

function maintenanceOf(type: string): string {
  return type === '' ? 'maintenance of an unknown type' : `maintenance of type ${type}`;
}

/** The data of approvals has only the event's id. An attribute has its type, if the service lists the event. */
function approvedMaintenance(data: JsonObject, { impact }: Attributes): string {
  const type = textOf(impact);
  return `${WORDS_OF_IMPACT.get(type)?.[1] ?? maintenanceOf(type)} (event ${textOf(data['eventId'])})`;
}

/** Without an approver if several approved or a rule decided; the rule is named in both cases. */
function byWhom(data: JsonObject): string {
  const [approver, policy] = [textOf(data['approver']), textOf(data['policy'])];
  return `${approver && ` by ${approver}`}${policy && ` under the rule ${policy}`}`;
}

function whenOf(data: JsonObject): string {
  const notBefore = textOf(data['notBefore']);
  return notBefore === '' ? 'no time given' : `not before ${notBefore}`;
}

/** Returns the description of a changed event, and its time if it has not started. */
function timeAndReason(data: JsonObject): string {
  const description = afterColon(data['description']);
  return data['eventStatus'] === 'Started' ? description : `: ${whenOf(data)}${description}`;
}

function observerOf({ observer }: JsonObject): string {
  return (isObject(observer) && textOf(observer['name'])) || 'a machine of unknown name';
}

function sinceOf(data: JsonObject): string {
  const since = textOf(data['since']);
  return data['lastDocumentAt'] === null ? `its first request at ${since}` : since;
}

function afterColon(value: unknown): string {
  const text = textOf(value);
  return text && `: ${text}`;
}

function inBrackets(value: unknown): string {
  const text = Array.isArray(value) ? listOf(value, ', ') : textOf(value);
  return text && ` (${text})`;
}

/** Returns all names: `web_0, web_1 and web_2`. */
function listOf(value: unknown, beforeLast: string): string {
  const names = (Array.isArray(value) ? value : []).map(textOf);
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')}${beforeLast}${last}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
