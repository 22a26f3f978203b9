// crypto.randomUUID is there only over https and on this machine's own address; the service may be asked over plain http, too.
export function unique_id(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
