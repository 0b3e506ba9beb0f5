// Bulk requests to a gateway without `_id` on loopback → the stored records, with repeats.
import { plainBody } from './plain-body.ts';
import { type ReceivedRequest, WebhookReceiver } from './webhook-receiver.ts';

/** The answer of each gateway for one stored document, by its source code. */
export const ITEMS = {
  /** 5.1.1, in_elasticsearch; a run of the program gave the same bytes. */
  'Fluent Bit': () => '{"create":{"status":201,"result":"created"}}',
  /** Of August 2026, app/vlinsert/elasticsearch/bulk_response.qtpl. */
  VictoriaLogs: () => '{"create":{"status":201}}',
  /** Of August 2026, elasticsearch_api/bulk_v2.rs: each item is an `index`, whatever the request named. */
  Quickwit: (id: string) => `{"index":{"_index":"logs","_id":"${id}","status":201,"error":null}}`,
  /** Of August 2026, ingestion_common/src/lib.rs. */
  OpenObserve: (id: string) =>
    `{"create":{"_index":"logs","_id":"${id}","_version":1,"result":"created","_shards":{"total":1,"successful":1,"failed":0},"_seq_no":1,"_primary_term":1,"status":200}}`,
} as const;

export type Gateway = keyof typeof ITEMS;

export class BulkGateway implements AsyncDisposable {
  readonly receiver: WebhookReceiver;
  /** All documents in order of arrival. */
  readonly records: Readonly<Record<string, unknown>>[] = [];
  readonly #item: (id: string) => string;

  private constructor(receiver: WebhookReceiver, gateway: Gateway) {
    this.receiver = receiver;
    this.#item = ITEMS[gateway];
    receiver.default = (response, _, request) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(this.#store(request));
    };
  }

  static async start(gateway: Gateway): Promise<BulkGateway> {
    return new BulkGateway(await WebhookReceiver.start(), gateway);
  }

  get url(): string {
    return new URL(this.receiver.url).origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver.stop();
  }

  #store(request: ReceivedRequest): string {
    const lines = plainBody(request).toString().trimEnd().split('\n');
    const items = Array.from({ length: lines.length / 2 }, (_, place) => {
      this.records.push(JSON.parse(lines[place * 2 + 1] ?? ''));
      return this.#item((JSON.parse(lines[place * 2] ?? '') as { create: { _id: string } }).create._id);
    });
    return `{"errors":false,"items":[${items.join(',')}]}`;
  }
}
