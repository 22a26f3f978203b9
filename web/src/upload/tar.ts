// A folder as one tar archive (POSIX ustar, with pax headers for names and sizes that do not fit), because an upload is one file.
//
// The archive is a Blob of headers and of the files themselves: the browser reads a file when its part is sent, so a folder of 100 GB takes no
// memory. Order, times and owners are fixed: the same files give the same bytes, so that an upload goes on after the page was closed.

const block_bytes = 512;
const name_bytes_max = 100;
const size_max = 0o77777777777;

export interface NamedFile {
  name: string; // with its folders: "train/cat/1.png"
  file: File;
}

const encoder = new TextEncoder();

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0") + "\0";

function header(name: Uint8Array, size: number, kind: string): Uint8Array {
  const block = new Uint8Array(block_bytes);
  const write = (text: string, at: number) => block.set(encoder.encode(text), at);
  block.set(name.subarray(0, name_bytes_max));
  write(octal(0o644, 7), 100);
  write(octal(0, 7), 108); // owner
  write(octal(0, 7), 116); // group
  write(octal(size, 11), 124);
  write(octal(0, 11), 136); // time
  write("        ", 148); // the checksum is taken over blanks
  write(kind, 156);
  write("ustar\0" + "00", 257);
  write(octal(block.reduce((sum, byte) => sum + byte, 0), 6) + " ", 148);
  return block;
}

/** "30 path=…": the length counts itself. */
function pax_record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = encoder.encode(rest).length;
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return length + rest;
}

const padding = (size: number) => new Uint8Array((block_bytes - (size % block_bytes)) % block_bytes);

function entry({ name, file }: NamedFile): BlobPart[] {
  const bytes = encoder.encode(name);
  const long = bytes.length > name_bytes_max || bytes.length !== name.length;
  const large = file.size > size_max;
  const parts: BlobPart[] = [];
  if (long || large) {
    const records = encoder.encode((long ? pax_record("path", name) : "") + (large ? pax_record("size", String(file.size)) : ""));
    parts.push(header(encoder.encode("pax"), records.length, "x"), records, padding(records.length));
  }
  parts.push(header(bytes, large ? 0 : file.size, "0"), file, padding(file.size));
  return parts;
}

export function tar_of(files: NamedFile[]): Blob {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return new Blob([...sorted.flatMap(entry), new Uint8Array(2 * block_bytes)]);
}
