// The name of a verb → its summary, and the verb itself, loaded when it is used.
import type { VerbTable } from './verb.ts';

/** All verbs, by name; each is loaded when it is used. */
export const VERBS: VerbTable = {
  run: {
    summary: 'runs the bridge: poll, compare, publish, serve approvals',
    load: async () => (await import('./run.ts')).runVerb,
  },
  demo: {
    summary: 'runs one simulated maintenance from start to end and explains each step',
    load: async () => (await import('./demo.ts')).demoVerb,
  },
  simulate: {
    summary: 'simulates the metadata service',
    load: async () => (await import('./simulate.ts')).simulateVerb,
  },
  check: {
    summary: 'validates a configuration; --connect also checks connections, --schema and --asyncapi print documents',
    load: async () => (await import('./check.ts')).checkVerb,
  },
  events: {
    summary: "prints the metadata service's document",
    load: async () => (await import('./events.ts')).eventsVerb,
  },
  approve: {
    summary: 'approves events at the metadata service or through a bridge',
    load: async () => (await import('./approve.ts')).approveVerb,
  },
  explain: {
    summary: 'shows the story of an event, what it waits for, and what happens if nobody acts',
    load: async () => (await import('./bridge/explain.ts')).explainVerb,
  },
  hold: {
    summary: 'holds an event at a running bridge, which then submits nothing for it',
    load: async () => (await import('./bridge/hold.ts')).holdVerb,
  },
  release: {
    summary: 'releases a hold at a running bridge',
    load: async () => (await import('./bridge/hold.ts')).releaseVerb,
  },
  policy: {
    summary: 'policy test: shows which rule decides an event, when, and why',
    load: async () => (await import('./policy.ts')).policyVerb,
  },
  'dead-letters': {
    summary: 'lists deliveries that were given up; retries or discards them',
    load: async () => (await import('./dead-letters.ts')).deadLettersVerb,
  },
  replay: {
    summary: 'queues journalled CloudEvents for one sink again',
    load: async () => (await import('./replay.ts')).replayVerb,
  },
  pause: {
    summary: 'pauses a sink of a running bridge',
    load: async () => (await import('./bridge/pause.ts')).pauseVerb,
  },
  resume: {
    summary: 'resumes a retired or paused sink',
    load: async () => (await import('./resume.ts')).resumeVerb,
  },
  reload: {
    summary: 'reloads the configuration of a running bridge',
    load: async () => (await import('./bridge/reload.ts')).reloadVerb,
  },
  health: {
    summary: 'checks if a running bridge is ready (exit code 0 or 1)',
    load: async () => (await import('./bridge/health.ts')).healthVerb,
  },
  drill: {
    summary: 'simulates an event on a running bridge and reports what each sink and approver did',
    load: async () => (await import('./bridge/drill.ts')).drillVerb,
  },
  status: {
    summary: 'shows the state of a bridge on one screen; same exit code as health',
    load: async () => (await import('./bridge/status.ts')).statusVerb,
  },
  tail: {
    summary: 'prints CloudEvents as they are published',
    load: async () => (await import('./bridge/tail.ts')).tailVerb,
  },
  secret: {
    summary: 'creates a secret or key pair for a webhook',
    load: async () => (await import('./secret.ts')).secretVerb,
  },
  completion: {
    summary: 'prints a completion script for bash, zsh or fish',
    load: async () => (await import('./usage/completion.ts')).completionVerb(VERBS),
  },
};
