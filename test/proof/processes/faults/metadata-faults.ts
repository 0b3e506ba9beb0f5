// Faults of the metadata service: bad, late, old and lost answers to polls and to StartRequests.
import type { FakeAnswer, FakeRequest } from '../../../far-sides/metadata-service.ts';
import type { Fault } from '../fault.ts';
import type { Disturbance, MetadataService } from '../metadata.ts';
import type { World } from '../world.ts';

const PAGE = '<html><body>Please log in</body></html>';
const SLOW_MS = 300;

/** Answers of a document's requests; the state begins with the fault. */
function polls(
  name: string,
  make: (service: MetadataService) => () => FakeAnswer | undefined,
  after?: (service: MetadataService) => void,
): Fault {
  return disturbing(
    name,
    (service) => {
      const answer = make(service);
      return ({ method }) => (method === 'GET' ? answer() : undefined);
    },
    after,
  );
}

function disturbing(
  name: string,
  make: (service: MetadataService) => Disturbance,
  after?: (service: MetadataService) => void,
): Fault {
  const running = new WeakMap<World, Disturbance>();
  const bitten = new WeakSet<World>();
  return {
    name,
    kind: 'metadata',
    hasBitten: (world) => bitten.has(world),
    begin: (world) => {
      const disturbance = make(world.service);
      const disturb: Disturbance = (request, service) => {
        const { document } = service;
        const answer = disturbance(request, service);
        if (answer !== undefined && !(typeof answer === 'object' && 'body' in answer && answer.body === document))
          bitten.add(world);
        return answer;
      };
      running.set(world, disturb);
      world.service.disturbances.add(disturb);
    },
    end: (world) => {
      const disturb = running.get(world);
      if (disturb !== undefined) world.service.disturbances.delete(disturb);
      after?.(world.service);
    },
  };
}

/** Happens to the first StartRequest that comes after `begin`. */
function posts(name: string, what: (request: FakeRequest, service: MetadataService) => FakeAnswer): Fault {
  const fault = disturbing(name, () => {
    let isOver = false;
    return (request, service) => {
      if (isOver || request.method !== 'POST') return undefined;
      isOver = true;
      return what(request, service);
    };
  });
  // It stays until the approval comes, however long that takes.
  return { name, kind: 'metadata', losesReceipts: true, begin: fault.begin, hasBitten: fault.hasBitten };
}

/** The other host lists the same events; what a host without them does is played in the simulation. */
function twoHosts(service: MetadataService): () => FakeAnswer | undefined {
  let asked = 0;
  return () => {
    asked += 1;
    if (asked % 2 === 0) return undefined;
    return { body: service.giveAs(service.incarnation - 1) };
  };
}

/** By world: the documents that were given before it. */
const givenBefore = new WeakMap<World, number>();

const INCARNATIONS_RESTART: Fault = {
  name: 'incarnations-restart',
  kind: 'metadata',
  begin: (world) => {
    world.service.offset += 500;
    givenBefore.set(world, world.service.given);
  },
  hasBitten: (world) => world.service.given > (givenBefore.get(world) ?? Number.POSITIVE_INFINITY),
};

export const METADATA_FAULTS: readonly Fault[] = [
  polls('error-500', () => () => ({ status: 500, body: '{}' })),
  polls('throttled-429', () => () => ({ status: 429, headers: { 'Retry-After': '1' }, body: '{}' })),
  polls('page', () => () => ({ body: PAGE })),
  polls('broken-json', () => () => ({ body: '{"DocumentIncarnation":7,"Eve' })),
  polls('truncated', () => () => ({ truncated: '{"DocumentIncarnation":' })),
  polls('no-http', () => () => ({ raw: 'nonsense\r\n\r\n' })),
  polls('metadata-reset', () => () => 'reset'),
  polls(
    'silent',
    () => () => 'hold',
    (service) => service.cutHeld(),
  ),
  polls('slow-answers', (service) => () => {
    setTimeout(() => service.release(), SLOW_MS);
    return 'hold';
  }),
  polls('empty-answers', () => () => ({ body: '' })),
  polls('stale-document', (service) => {
    const give = service.staleDocument();
    return () => ({ body: give() });
  }),
  polls('two-hosts', twoHosts),
  INCARNATIONS_RESTART,
  posts('request-lost', (request, service) => {
    service.lose(request);
    return 'reset';
  }),
  posts('request-refused-500', (request, service) => {
    service.lose(request);
    return { status: 500, body: '{}' };
  }),
  // Behind the others: what the service has taken does not come again.
  posts('answer-lost', (request, service) => {
    service.accept(request, false);
    return 'reset';
  }),
];
