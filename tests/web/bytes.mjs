// What a page transfers, as the devtools of the browser count it.

/**
 * Counts what arrives, as it was sent: compressed, with its headers; of what has not ended, as streams have not, what has come so far.
 * `bytes_of_answers` leaves streams of events out: what they have brought depends on how long a page is looked at.
 */
export function count_bytes(session) {
  let [ended, ended_streams] = [0, 0];
  const open = new Map();
  const streams = new Set();
  session.on("Network.responseReceived", ({ requestId, response }) => response.mimeType === "text/event-stream" && streams.add(requestId));
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }) => open.set(requestId, (open.get(requestId) ?? 0) + encodedDataLength));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    ended += encodedDataLength;
    if (streams.has(requestId)) ended_streams += encodedDataLength;
    open.delete(requestId);
  });
  const total = () => [...open.values()].reduce((sum, one) => sum + one, ended);
  const of_streams = () => [...open].reduce((sum, [request, one]) => sum + (streams.has(request) ? one : 0), ended_streams);
  let [begun, begun_streams] = [0, 0];
  const bytes = () => total() - begun;
  return { begin: () => ([begun, begun_streams] = [total(), of_streams()]), bytes, bytes_of_answers: () => bytes() - (of_streams() - begun_streams) };
}
