// Transfers of one sender → messages in its entity, each settled by itself or by the fault script.

import type { Delivery, Receiver } from 'rhea';
import { type AmqpMessage, readMessage } from './amqp-message.ts';
import { type Broker, spelledOut } from './broker.ts';
import type { Queue, Topic } from './entities.ts';
import type { SendFault } from './fault-script.ts';
import { IdleWatch } from './idle-watch.ts';
import { idOf } from './kept-message.ts';
import { answerAttach, BATCH_FORMAT, forget, type Outcome, settle } from './rhea-link.ts';
import { CONDITIONS, type Place } from './service-faults.ts';

const CREDIT = 1000;

interface Transfer {
  readonly delivery: Delivery;
  readonly messages: readonly AmqpMessage[];
  readonly batch: boolean;
  readonly bytes: number;
}

export class IncomingLink {
  readonly place: Place;
  readonly link: Receiver;
  readonly claim = 'Send';
  readonly #broker: Broker;
  readonly #entity: Queue | Topic;
  readonly #drop: () => void;
  readonly #idle: IdleWatch;
  #owed = 0;

  /** `drop` destroys the connection's socket. */
  constructor(broker: Broker, link: Receiver, entity: Queue | Topic, place: Place, drop: () => void) {
    this.place = place;
    this.link = link;
    this.#broker = broker;
    this.#entity = entity;
    this.#drop = drop;
    this.#idle = new IdleWatch(broker.clock, broker.linkIdleMs, () => link.close(spelledOut('detachForced', place)));
    link.on('message', ({ message, delivery }) => {
      if (delivery) this.#receive(message as unknown as Buffer, delivery);
    });
    answerAttach(link, { max_message_size: broker.maxMessageSize });
    this.grant(CREDIT);
  }

  close(): void {
    this.#idle.stop();
  }

  /** Gives credit, or remembers what is owed while the script withholds it. */
  grant(credit = 0): void {
    this.#owed += credit;
    if (this.#broker.faults.withholdCredit) return;
    this.link.add_credit(this.#owed);
    this.#owed = 0;
  }

  #receive(raw: Buffer, delivery: Delivery): void {
    this.#idle.touch();
    this.grant(1);
    const batch = delivery.format === BATCH_FORMAT;
    const transfer: Transfer = {
      delivery,
      messages: batch ? unpack(raw) : [readMessage(raw)],
      batch,
      bytes: raw.length,
    };
    const fault = this.#broker.faults.nextSend(this.#entity.name);
    if (fault) this.#misbehave(fault, transfer);
    else this.#answer(this.#accept(transfer), transfer);
  }

  #accept({ messages, bytes }: Transfer): Outcome {
    const { maxMessageSize } = this.#broker;
    const { name } = this.link;
    if (bytes > maxMessageSize) {
      const description = `The received message (delivery-id:0, size:${bytes} bytes) exceeds the limit (${maxMessageSize} bytes) currently allowed on the link '${name}'.`;
      return { condition: CONDITIONS.tooLarge, description };
    }
    const verdict = this.#entity.accept(messages);
    return 'refused' in verdict ? spelledOut(verdict.refused, this.place) : 'accepted';
  }

  #answer(outcome: Outcome, transfer: Transfer): void {
    this.#record(typeof outcome === 'string' ? outcome : outcome.condition, transfer);
    settle(transfer.delivery, outcome);
  }

  #misbehave(fault: SendFault, transfer: Transfer): void {
    if (fault.do === 'reject') this.#answer(spelledOut(fault.with, this.place), transfer);
    else if (fault.do === 'release') this.#answer('released', transfer);
    else if (fault.do === 'modify') this.#answer('modified', transfer);
    else {
      if (fault.stored) this.#accept(transfer);
      this.#record(fault.do, transfer);
      forget(transfer.delivery);
      if (fault.do === 'drop') this.#drop();
      if (fault.do === 'detach') this.link.close(spelledOut(fault.with ?? 'detachForced', this.place));
    }
  }

  #record(outcome: string, { messages, batch, bytes }: Transfer): void {
    this.#broker.contacts.push({
      what: 'send',
      entity: this.#entity.name,
      messageIds: messages.map(idOf),
      batch,
      bytes,
      outcome,
    });
  }
}

/** The messages inside a batch's envelope: each of its data sections is one. */
function unpack(raw: Buffer): AmqpMessage[] {
  const { body } = readMessage(raw);
  if (body.kind !== 'data') throw new Error(`a batch whose body is ${body.kind}`);
  return body.sections.map(readMessage);
}
