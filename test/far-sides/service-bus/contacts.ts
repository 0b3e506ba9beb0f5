// What clients did at the server, in order, for tests to read.
export type Contact =
  | { readonly what: 'connection'; readonly transport: 'tcp' | 'tls' | 'websocket' }
  | {
      readonly what: 'open';
      readonly hostname: string | undefined;
      readonly properties: Readonly<Record<string, unknown>>;
    }
  | {
      readonly what: 'put-token';
      readonly audience: string;
      readonly tokenType: string;
      readonly token: string;
      /** What was answered; null where nothing was. */
      readonly status: number | null;
    }
  | {
      readonly what: 'attach';
      readonly entity: string;
      readonly role: 'sender' | 'receiver';
      readonly refused: string | null;
    }
  | {
      readonly what: 'send';
      readonly entity: string;
      /** One a message, in the order of the transfer. */
      readonly messageIds: readonly (string | null)[];
      readonly batch: boolean;
      readonly bytes: number;
      /** What was answered: `accepted`, another outcome, a condition, or what a fault did instead. */
      readonly outcome: string;
    }
  | {
      readonly what: 'settle';
      readonly entity: string;
      readonly messageId: string | null;
      readonly how: string;
      readonly outcome: string;
    }
  | { readonly what: 'manage'; readonly entity: string; readonly operation: string; readonly status: number | null }
  /** Of the HTTP side, where entities are described. */
  | { readonly what: 'http'; readonly method: string; readonly path: string; readonly status: number }
  | { readonly what: 'detach'; readonly entity: string; readonly role: 'sender' | 'receiver' }
  | { readonly what: 'close' }
  | { readonly what: 'disconnection' };
