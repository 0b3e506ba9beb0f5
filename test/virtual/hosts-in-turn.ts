// A metadata service → the same answered by two hosts in turn, with incarnations of their own.
import type { MetadataTransport } from '../../src/metadata/transport.ts';

/** The first host lists what the service does; the second, with a smaller incarnation, nothing. */
export function hostsInTurn(service: MetadataTransport): MetadataTransport {
  let isSecond = true;
  return async (request, signal) => {
    const answer = await service(request, signal);
    if (request.method !== 'GET' || !request.url.includes('/scheduledevents') || answer.status !== 200) return answer;
    const { DocumentIncarnation, Events } = JSON.parse(new TextDecoder().decode(answer.body));
    isSecond = !isSecond;
    const document = isSecond
      ? { DocumentIncarnation, Events: [] }
      : { DocumentIncarnation: DocumentIncarnation + 1000, Events };
    return { ...answer, body: new TextEncoder().encode(JSON.stringify(document)) };
  };
}
