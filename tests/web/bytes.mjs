// What a page transfers, as the devtools of the browser count it.

/**
 * Counts what arrives since `begin`, as it was sent: compressed, with its headers; of what has not ended, as streams have not, what has come
 * so far.
 * `bytes`: of all of it.
 * `answers`: bytes of the first answer of each address that was asked since `begin`, the largest first, without streams of events. What a stream
 * has brought, and what is read again since it has begun, depends on how long a page is looked at.
 */
export function count_bytes(session) {
  const asked = new Map(); // id of the request -> what it is
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    const { pathname, search } = new URL(request.url);
    asked.set(requestId, { name: `${request.method} ${pathname}${search}`, bytes: 0, before: 0, is_stream: false, is_earlier: false });
  });
  const of = (id, change) => asked.has(id) && change(asked.get(id));
  session.on("Network.responseReceived", ({ requestId, response }) => of(requestId, (one) => (one.is_stream = response.mimeType === "text/event-stream")));
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }) => of(requestId, (one) => (one.bytes += encodedDataLength)));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => of(requestId, (one) => (one.bytes = encodedDataLength)));
  const begin = () => {
    for (const one of asked.values()) Object.assign(one, { before: one.bytes, is_earlier: true });
  };
  const bytes = () => [...asked.values()].reduce((sum, one) => sum + one.bytes - one.before, 0);
  const answers = () => {
    const first = new Map();
    for (const { name, bytes: size, is_stream, is_earlier } of asked.values()) if (!is_stream && !is_earlier && !first.has(name)) first.set(name, size);
    return [...first].map(([name, size]) => [size, name]).sort(([a], [b]) => b - a);
  };
  return { begin, bytes, answers };
}
