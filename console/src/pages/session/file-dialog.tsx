/** Large content, opened in pages of lines. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { createResource } from "../../state/resource.ts";
import { Fault } from "../../ui/basics.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatBytes, formatNumber } from "../../ui/format.ts";

const linesPerPage = 400;

export function FileDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const from = useSignal(1);
  const file = useSignal(
    createResource((signal) =>
      call("GET /api/files/{id}", {
        params: { id },
        query: { from: from.value, to: from.value + linesPerPage - 1, tokens: 20_000 },
        signal,
      }),
    ),
  ).value;
  useEffect(() => void file.load(), [from.value]);
  const data = file.data.value;
  const lines = data?.lines;
  return (
    <Dialog title={`Content ${id}`} className="file-dialog" onClose={onClose}>
      <h2>{data?.file.name ?? id}</h2>
      <Fault text={file.error.value} />
      {data && (
        <p class="soft small">
          {data.file.kind}, {formatBytes(data.file.bytes)}, {formatNumber(data.file.lines)} lines,{" "}
          {formatNumber(data.file.tokens)} tokens
        </p>
      )}
      <pre tabIndex={0}>{lines?.text}</pre>
      {lines?.cut !== undefined && <p class="notice">{lines.cut}</p>}
      <div class="actions">
        <button
          type="button"
          class="button"
          disabled={from.value === 1}
          onClick={() => (from.value = Math.max(1, from.value - linesPerPage))}
        >
          Earlier lines
        </button>
        <button
          type="button"
          class="button"
          disabled={!lines || lines.endLine >= lines.totalLines}
          onClick={() => (from.value = (lines?.endLine ?? 0) + 1)}
        >
          Later lines
        </button>
        <button type="button" class="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
