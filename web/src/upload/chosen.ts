// What somebody chose to upload: one file as it is, or several as an archive; with a name to know it by when the same is chosen again.
import { tar_of, type NamedFile } from "./tar";

export interface Chosen {
  filename: string;
  bytes: Blob;
  files: string[];
  key: string; // the same for the same files
  packed: boolean; // an archive that was made here
}

const newest = (files: NamedFile[]) => Math.max(...files.map(({ file }) => file.lastModified));

/** Names below the folder that was chosen; hidden files of the desktop are left out. */
function named(list: File[]): { folder: string; files: NamedFile[] } {
  const paths = list.map((file) => file.webkitRelativePath || file.name);
  const folder = paths[0].includes("/") ? paths[0].split("/")[0] : "files";
  const files = list.map((file, index) => ({ name: paths[index].startsWith(`${folder}/`) ? paths[index].slice(folder.length + 1) : paths[index], file }));
  return { folder, files: files.filter(({ name }) => !name.split("/").some((part) => part.startsWith("."))) };
}

/** undefined: there is nothing in it. */
export function chosen_of(list: File[]): Chosen | undefined {
  if (list.length === 0) return undefined;
  if (list.length === 1 && !list[0].webkitRelativePath) {
    const [file] = list;
    return { filename: file.name, bytes: file, files: [file.name], key: `${file.name} ${file.size} ${file.lastModified}`, packed: false };
  }
  const { folder, files } = named(list);
  if (files.length === 0) return undefined;
  const bytes = tar_of(files);
  return { filename: `${folder}.tar`, bytes, files: files.map(({ name }) => name), key: `${folder} ${files.length} ${bytes.size} ${newest(files)}`, packed: true };
}

const formats: [RegExp, string][] = [
  [/ubyte(\.gz)?$/, "idx"],
  [/(^|\/)labels\.csv$/, "image_csv"],
  [/\.tfrecord/, "tfrecord"],
  [/\.npz$/, "npz"],
  [/_batch.*\.bin$/, "cifar10"],
  [/\.(tar|tgz)(\.gz)?$/, "webdataset"],
  [/\/[^/]+\.(jpe?g|png)$/i, "image_folder"],
  [/\.csv(\.gz)?$/, "csv"],
  [/\.txt(\.gz)?$/, "text"],
];

/** The format that the files look like; "": none. */
export const format_of = (files: string[]) => formats.find(([pattern]) => files.some((name) => pattern.test(name)))?.[1] ?? "";

/** A name that a dataset may have. */
export const dataset_name_of = (filename: string) =>
  filename.replace(/(\.(tar|tgz|zip|csv|txt|npz|gz|tfrecord))+$/i, "").replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(0, 64);
