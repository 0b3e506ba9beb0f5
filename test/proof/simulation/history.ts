// What happens around a group of bridges, as data: it can be played, printed and shortened.

/** The configuration of one machine, as the file has it, without what the harness adds. */
export interface Settings {
  readonly metadata: { readonly pollInterval: string; readonly timeout: string; readonly settle: string };
  readonly publish: { readonly resources: 'all' | 'own' };
  readonly approvals: ApprovalSettings;
  readonly sinks: Readonly<Record<string, SinkSettings>>;
}

export interface ApprovalSettings {
  readonly approvers: Readonly<Record<string, ApproverSettings>>;
  readonly required: 'any' | 'all' | number | readonly string[];
  readonly policy: 'documentation' | readonly RuleSettings[];
  readonly group: { readonly submit: 'every' | 'leader'; readonly failoverAfter?: string };
  readonly dryRun: boolean;
  readonly windows?: Readonly<Record<string, WindowSettings>>;
  readonly budgets?: Readonly<Record<string, BudgetSettings>>;
}

export interface WindowSettings {
  readonly days: readonly string[];
  /** Both are `HH:MM`. */
  readonly from: string;
  readonly to: string;
  readonly timeZone?: string;
  /** Dates, as `YYYY-MM-DD`. */
  readonly except?: readonly string[];
}

export interface BudgetSettings {
  readonly resources: readonly string[];
  readonly atMost: number;
  readonly rest?: string;
}

export interface ApproverSettings {
  readonly scope?: { readonly impacts?: readonly string[]; readonly resources?: readonly string[] };
  readonly admin?: boolean;
}

export interface RuleSettings {
  readonly when: Conditions & { readonly duration?: { readonly min: string; readonly below: string } };
  readonly then: 'approve' | 'wait' | 'never';
  readonly required?: ApprovalSettings['required'];
  readonly deadline?: { readonly before: string; readonly then: 'approve' | 'leave' };
  /** Names of windows, and of budgets. */
  readonly during?: readonly string[];
  readonly otherwise?: 'wait';
  readonly budgets?: readonly string[];
}

export interface Conditions {
  readonly impacts?: readonly string[];
  readonly initiators?: readonly string[];
  readonly resources?: readonly string[];
}

export interface SinkSettings {
  readonly inFlight: number;
  readonly batch: number;
  /** Another one makes another configuration of the same sink. */
  readonly label: string;
  readonly filter?: Conditions & { readonly changes?: readonly string[] };
  /** Its deliveries prepare, and their end is this approver's yes. */
  readonly approve?: string;
  readonly hold?: boolean;
}

/** The fields of an event, as `POST /simulator/events` takes them. */
export interface EventOrder {
  readonly EventType?: string;
  readonly EventSource?: string;
  readonly Resources?: readonly string[];
  readonly DurationInSeconds?: number;
  readonly Description?: string;
  readonly notice?: string;
  readonly startedFor?: string;
  readonly otherTenants?: string;
}

/** What the way between a machine and the metadata service does. */
export const METADATA_FAULTS = [
  'status',
  'page',
  'broken-json',
  'reset',
  'silent',
  'slow',
  'stale',
  'empty',
  'two-hosts',
  'post-lost',
  'post-answer-lost',
  'post-slow',
  'post-repeated',
  'post-status',
] as const;
/** Documents in which entries of some events have no usable EventId, or no usable EventStatus. */
export type EntryFault = 'nameless-entries' | 'statusless-entries';
export type MetadataFault = (typeof METADATA_FAULTS)[number] | EntryFault;

export const SINK_TROUBLES = [
  'away',
  'failing',
  'answer-lost',
  'hanging',
  'slow',
  'throttled',
  'misconfigured',
  'refusing',
] as const;
export type SinkTrouble = (typeof SINK_TROUBLES)[number];

/** The moments at which a kill finds a process; the store is what was committed then. */
export const KILL_MOMENTS = ['commit', 'committed', 'call', 'arrival', 'post', 'posted'] as const;
export type KillMoment = (typeof KILL_MOMENTS)[number];

export type Act =
  | { readonly do: 'schedule'; readonly event: string; readonly id: string; readonly fields: EventOrder }
  | { readonly do: 'change'; readonly event: string; readonly fields: EventOrder }
  | { readonly do: 'cancel' | 'start' | 'end'; readonly event: string }
  | { readonly do: 'service-restart'; readonly emptyMs: number }
  | { readonly do: 'metadata'; readonly machine: number; readonly fault: MetadataFault; readonly forMs: number }
  | {
      readonly do: 'sink';
      readonly machine: number;
      readonly sink: string;
      readonly trouble: SinkTrouble;
      readonly forMs: number;
    }
  | { readonly do: 'kill' | 'stop'; readonly machine: number; readonly downMs: number }
  | {
      readonly do: 'kill-at';
      readonly machine: number;
      readonly moment: KillMoment;
      readonly nth: number;
      readonly downMs: number;
    }
  | { readonly do: 'freeze'; readonly machine: number; readonly forMs: number }
  | { readonly do: 'jump'; readonly machine: number; readonly byMs: number }
  | { readonly do: 'disk-full'; readonly machine: number; readonly forMs: number }
  /** From the next such moment on. */
  | { readonly do: 'disk-full-at'; readonly machine: number; readonly moment: KillMoment; readonly forMs: number }
  | {
      readonly do: 'ask';
      readonly machine: number;
      readonly as: string;
      readonly act: 'approve' | 'hold' | 'release';
      /** `*`: a hold of everything, or its release. */
      readonly event: string;
      /** With the id of the newest CloudEvent that the consumer has. */
      readonly seen: boolean;
    }
  | { readonly do: 'tell'; readonly act: 'approve' | 'hold' | 'release'; readonly event: string }
  | { readonly do: 'settings'; readonly machine: number; readonly use: number }
  | { readonly do: 'drill'; readonly machine: number }
  | {
      readonly do: 'command';
      readonly machine: number;
      readonly act: 'pause' | 'resume' | 'retry';
      readonly sink: string;
    };

export type Step = Act & { readonly atMs: number };

export interface History {
  readonly seed: number;
  readonly world: number;
  readonly machines: number;
  /** Wall time at the begin. */
  readonly startMs: number;
  /** The first one is in force at the begin; steps name others. */
  readonly settings: readonly Settings[];
  readonly steps: readonly Step[];
}

export function machineName(index: number): string {
  return `web_${index}`;
}

/** The approvers that settings may name, and their tokens. */
export const TOKENS: Readonly<Record<string, string>> = {
  orders: 'token-of-the-orders-service',
  billing: 'token-of-the-billing-service',
  operator: 'token-of-the-operator-on-duty',
};

/** The approver whose word comes by the topic that each bridge reads. */
export const TOPIC_APPROVER = 'desk';

export function scheduledIn({ steps }: History): number {
  return steps.filter((step) => step.do === 'schedule').length;
}
