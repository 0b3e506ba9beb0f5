// One client's AMQP connection → its tokens and links, each attach judged, answered and kept.
import type { Connection, Receiver, Sender } from 'rhea';
import { type Role, refusalOf, sessionRefusal } from './attach-refusal.ts';
import { type Broker, spelledOut } from './broker.ts';
import { TokenStore } from './cbs.ts';
import type { Refusal } from './fault-script.ts';
import { IdleWatch } from './idle-watch.ts';
import { IncomingLink } from './incoming-link.ts';
import { handleManagement } from './management.ts';
import { entityOf, isManagement, type ReceiveNode } from './namespace.ts';
import { OutgoingLink } from './outgoing-link.ts';
import { listenForRequests, type RequestHandler, SPELLINGS } from './request-node.ts';
import { type AmqpFault, answerAttach, holdAttach, takeRawPayloads } from './rhea-link.ts';
import { linkless, type Place, tokenExpired } from './service-faults.ts';
import { acceptSession, sessionWanted } from './session-attach.ts';

const CBS = '$cbs';
/** How long a connection may have no link to an entity: at its beginning, and later. */
const [FIRST_LINK_MS, LINKLESS_MS] = [60_000, 300_000] as const;
/** Events that rhea complains about, or throws for, where nobody listens. */
const QUIET = [
  'connection_open',
  'connection_close',
  'connection_error',
  'session_open',
  'session_close',
  'session_error',
  'disconnected',
];
const QUIET_LINKS = [
  'sender_close',
  'receiver_close',
  'sender_error',
  'receiver_error',
  'settled',
  'sendable',
  'sender_draining',
];

type EntityLink = IncomingLink | OutgoingLink;

export class BrokerConnection {
  readonly #broker: Broker;
  readonly #connection: Connection;
  readonly #drop: () => void;
  readonly #tokens: TokenStore;
  readonly #links = new Set<EntityLink>();
  readonly #ending = new Set<EntityLink>();
  #linkless: IdleWatch;

  /** `drop` destroys the socket. */
  constructor(broker: Broker, connection: Connection, drop: () => void) {
    this.#broker = broker;
    this.#connection = connection;
    this.#drop = drop;
    this.#tokens = new TokenStore(broker, (path) => this.#tokenExpired(path), drop);
    this.#linkless = this.#watchLinkless(FIRST_LINK_MS);
    takeRawPayloads(connection);
    for (const event of [...QUIET, ...QUIET_LINKS]) connection.on(event, () => {});
    for (const event of ['error', 'protocol_error'])
      connection.on(event, (error: Error) => broker.protocolErrors.push(error));
    connection.on('connection_open', () => this.#opened());
    connection.on('connection_close', () => broker.contacts.push({ what: 'close' }));
    connection.on(
      'receiver_open',
      ({ receiver }) => receiver && this.#attached(receiver, 'sender', receiver.target?.address),
    );
    connection.on('sender_open', ({ sender }) => sender && this.#attached(sender, 'receiver', sender.source?.address));
  }

  /** The socket is gone. */
  ended(): void {
    this.#tokens.close();
    for (const link of [...this.#links]) this.#forget(link, true);
    this.#linkless.stop();
    this.#ending.clear();
  }

  /** Closes it as the service does, with a condition. */
  close(fault: AmqpFault): void {
    this.#connection.close(fault);
  }

  /** Links to entities, those whose session the client has not ended yet among them. */
  get links(): number {
    return this.#links.size + this.#ending.size;
  }

  /** Receivers that have given credit. */
  get waiting(): number {
    return [...this.#links].filter((link) => link instanceof OutgoingLink && link.isWaiting).length;
  }

  /** Takes the tokens whose put a fault left without an answer, and answers. */
  answerHeldTokens(): void {
    this.#tokens.answerHeld();
  }

  expireTokens(): void {
    this.#tokens.expireAll();
  }

  /** Detaches the links of an entity, or all of them. */
  detach(refusal: Refusal, entity?: string): void {
    for (const { link, place } of [...this.#links]) {
      if (entity === undefined || covers(entity, place.path)) link.close(spelledOut(refusal, place));
    }
  }

  /** Gives senders the credit that was withheld from them. */
  grantCredit(): void {
    for (const link of this.#links) if (link instanceof IncomingLink) link.grant();
  }

  #opened(): void {
    const { hostname, properties = {} } = this.#connection;
    this.#broker.contacts.push({ what: 'open', hostname, properties });
  }

  #attached(link: Sender | Receiver, role: Role, written = ''): void {
    // The SDK for Python writes the whole URL.
    const address = written.replace(/^amqps?:\/\/[^/]+\//, '');
    const place: Place = { namespace: this.#connection.hostname ?? '', path: entityOf(address), link: link.name };
    const fault = address === CBS ? null : this.#broker.faults.nextAttach(place.path);
    if (fault?.do === 'drop') this.#drop();
    if (fault && fault.do !== 'refuse') holdAttach(link);
    else if (address === CBS) openNode(link, (request, later) => this.#tokens.put(request, later), SPELLINGS.cbs);
    else this.#judge(link, role, address, place, refusalOf(this.#broker, this.#tokens, fault, role, address, place));
  }

  #judge(link: Sender | Receiver, role: Role, address: string, place: Place, refused: AmqpFault | null): void {
    this.#broker.contacts.push({ what: 'attach', entity: address, role, refused: refused?.condition ?? null });
    const manage: RequestHandler = (request) => handleManagement(this.#broker, place, request, this.#drop);
    if (refused) refuse(link, refused);
    else if (isManagement(address)) openNode(link, manage, SPELLINGS.management);
    else if (role === 'sender') this.#openIncoming(link as Receiver, place);
    else this.#openOutgoing(link as Sender, place);
  }

  #openIncoming(link: Receiver, place: Place): void {
    const entity = this.#broker.namespace.target(place.path);
    if (!entity) return;
    this.#keep(new IncomingLink(this.#broker, link, entity, place, this.#drop), 'sender', 'receiver_close');
  }

  #openOutgoing(link: Sender, place: Place): void {
    const node = this.#broker.namespace.node(place.path);
    if (!node) return;
    const [wanted, refused] = [sessionWanted(link), sessionRefusal(link, node)];
    if (refused) refuse(link, refused);
    else if (wanted === undefined) {
      answerAttach(link);
      this.#receiveFrom(link, node, null, place);
    } else
      acceptSession(this.#broker, link, node, wanted, place, (session) =>
        this.#receiveFrom(link, node, session, place),
      );
  }

  #receiveFrom(
    link: Sender,
    node: ReceiveNode,
    session: ConstructorParameters<typeof OutgoingLink>[3],
    place: Place,
  ): void {
    this.#keep(new OutgoingLink(this.#broker, link, node, session, place, this.#drop), 'receiver', 'sender_close');
  }

  #keep(link: EntityLink, role: Role, closing: string): void {
    this.#links.add(link);
    this.#linkless.stop();
    link.link.on(closing, () => {
      this.#broker.contacts.push({ what: 'detach', entity: link.place.path, role });
      this.#ending.add(link);
      this.#forget(link, false);
    });
    link.link.session.on('session_close', () => this.#ending.delete(link));
  }

  #forget(link: EntityLink, cut: boolean): void {
    if (!this.#links.delete(link)) return;
    link.close(cut);
    if (this.#links.size === 0) this.#linkless = this.#watchLinkless(LINKLESS_MS);
  }

  /** A link that still waits for a session is one, too. */
  #watchLinkless(ms: number): IdleWatch {
    return new IdleWatch(this.#broker.clock, ms, () => {
      const link = this.#connection.find_link(
        (open: Sender | Receiver) => ![open.source?.address, open.target?.address].includes(CBS),
      );
      if (link) this.#linkless = this.#watchLinkless(LINKLESS_MS);
      else this.close(linkless(this.#connection.hostname ?? '', ms));
    });
  }

  #tokenExpired(path: string): void {
    for (const { link, place, claim } of [...this.#links]) {
      if (covers(path, place.path) && !this.#tokens.allows(place.path, claim)) link.close(tokenExpired(place, claim));
    }
  }
}

/** One of the two links of a request-response node: requests come on one, answers go on the other. */
function openNode(
  link: Sender | Receiver,
  handle: RequestHandler,
  spelling: Parameters<typeof listenForRequests>[2],
): void {
  if (link.is_receiver()) listenForRequests(link as Receiver, handle, spelling);
  else answerAttach(link);
}

/** Answers the attach and takes it back with an error, as the service does. */
function refuse(link: Sender | Receiver, fault: AmqpFault): void {
  answerAttach(link);
  link.close(fault);
}

function covers(entity: string, path: string): boolean {
  const [wide, narrow] = [entity.toLowerCase(), path.toLowerCase()];
  return wide === '' || narrow === wide || narrow.startsWith(`${wide}/`);
}
