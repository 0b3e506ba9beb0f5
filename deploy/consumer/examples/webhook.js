// A bridge's webhooks → prepare and recover, once for each event.
// HOOK_SECRET=whsec_… BRIDGE=bridge.example.com node webhook.js
import { createServer } from 'node:http';
import { createReceiver, fileState, preparation, toNodeHandler } from 'scheduled-events-bridge-consumer';

const receiver = createReceiver({
  secrets: process.env.HOOK_SECRET,
  allowedOrigins: [process.env.BRIDGE ?? 'localhost'],
  handlers: preparation({
    state: fileState(process.env.STATE ?? 'prepared.json'),
    prepare: async ({ data }) => {
      console.log(`prepare: ${data.eventType} of ${data.resources.join(' and ')}, not before ${data.notBefore}`);
    },
    recover: async ({ data }, outcome) => {
      console.log(`recover: ${data.eventType} is over (${outcome})`);
    },
  }),
});

createServer(toNodeHandler(receiver)).listen(process.env.PORT ?? 9000, '127.0.0.1', function () {
  console.log(`listening on port ${this.address().port}`);
});
