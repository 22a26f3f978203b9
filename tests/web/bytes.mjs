// What a page transfers, as the devtools of the browser count it.

/** Counts what arrives, as it was sent: compressed, with its headers; of what has not ended, as streams have not, what has come so far. */
export function count_bytes(session) {
  let ended = 0;
  const open = new Map();
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }) => open.set(requestId, (open.get(requestId) ?? 0) + encodedDataLength));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    ended += encodedDataLength;
    open.delete(requestId);
  });
  const total = () => [...open.values()].reduce((sum, one) => sum + one, ended);
  let begun = 0;
  return { begin: () => (begun = total()), bytes: () => total() - begun };
}
