// A bridge's stream → prepare, approve, recover, once for each event.
// BRIDGE_TOKEN=… BRIDGE_URL=https://bridge.example.com node stream.js
import { createApprover, fileState, http, preparation, stream } from 'scheduled-events-bridge-consumer';

const bridge = { url: process.env.BRIDGE_URL ?? 'http://127.0.0.1:8700', token: process.env.BRIDGE_TOKEN };
const approver = createApprover(http(bridge));

/** A refusal is final: the event has started, is over, or got worse, and what comes next says which. */
async function approve(event, signal) {
  try {
    return (await approver.approve(event, { signal })).state;
  } catch (error) {
    if (error.code !== 'refused') throw error;
    return `refused: ${error.type}`;
  }
}

const consumer = stream({
  ...bridge,
  begin: 'listed',
  handlers: preparation({
    state: fileState(process.env.STATE ?? 'prepared.json'),
    prepare: async (event, { noticed, signal }) => {
      console.log(`prepare: ${event.data.eventType} of ${event.data.resources.join(' and ')}`);
      if (noticed) console.log(`approval: ${await approve(event, signal)}`);
    },
    recover: async ({ data }, outcome) => console.log(`recover: ${data.eventType} is over (${outcome})`),
  }),
});
process.once('SIGTERM', () => void consumer.close());
