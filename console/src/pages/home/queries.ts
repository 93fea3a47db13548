import { type Answer, call, send } from "../../api/client.ts";

export type Status = Answer<"GET /api/status">;
export type ImportState = Answer<"GET /api/imports">["imports"][number];

const partBytes = 4 * 1024 * 1024;

/** Uploads files in parts and starts their import. `onSent` tells how many bytes have arrived. */
export async function importFiles(files: readonly File[], onSent: (bytes: number) => void): Promise<ImportState> {
  const { id } = await call("POST /api/imports/uploads", {});
  let sent = 0;
  for (const [index, file] of files.entries()) {
    for (let offset = 0; offset < file.size || offset === 0; offset += partBytes) {
      const part = file.slice(offset, offset + partBytes, "application/octet-stream");
      const query = new URLSearchParams({ index: String(index), name: file.name, offset: String(offset) });
      await send("POST", `/api/imports/uploads/${id}/files?${query}`, part, undefined, {
        "Content-Type": "application/octet-stream",
      });
      sent += part.size;
      onSent(sent);
      if (file.size === 0) break;
    }
  }
  return call("POST /api/imports", { body: { upload: id } });
}

export function importFolder(folder: string): Promise<ImportState> {
  return call("POST /api/imports", { body: { folder } });
}

/** The files of what was dropped, folders included. */
export async function listDropped(data: DataTransfer): Promise<File[]> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const nested = await Promise.all(entries.map(readEntry));
  return nested.flat();
}

async function readEntry(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile)
    return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const files: File[] = [];
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return files;
    for (const child of batch) files.push(...(await readEntry(child)));
  }
}
