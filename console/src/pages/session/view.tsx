import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { onChange } from "../../api/events.ts";
import { createCoreState } from "../../core/state.ts";
import { Core } from "../../core/view.tsx";
import { createResource } from "../../state/resource.ts";
import { navigate, query, setQuery } from "../../state/router.ts";
import { attempt, say } from "../../state/toasts.ts";
import { Empty, Fault, Time } from "../../ui/basics.tsx";
import { count, formatCompact } from "../../ui/format.ts";
import { pageKeys } from "../../ui/keys.ts";
import { sessionTitle } from "../../ui/session-title.ts";
import { SessionMenu } from "../sessions/row.tsx";
import { FileDialog } from "./file-dialog.tsx";
import { findFirst, type SessionInfo } from "./queries.ts";
import { createTranscript } from "./state.ts";
import { SummaryPanel } from "./summary-panel.tsx";
import { ThisIsMe } from "./this-is-me.tsx";
import { TranscriptView } from "./transcript.tsx";
import "./session.css";

export function SessionPage({ session: key }: { session: string }) {
  const info = useSignal(
    createResource((signal) => call("GET /api/sessions/{key}", { params: { key }, signal })),
  ).value;
  const branches = useSignal(
    createResource((signal) => call("GET /api/sessions/{key}/branches", { params: { key }, signal })),
  ).value;
  const transcript = useSignal(createTranscript(key)).value;
  const core = useSignal(createCoreState(key)).value;
  const view = useSignal<{ from: number; to: number } | undefined>(undefined);
  const file = useSignal<string | undefined>(undefined);
  const summary = query.value.get("summary") ?? undefined;
  const at = query.value.get("at");

  useEffect(() => {
    pageKeys.value = [
      ["j k", "Next and previous message (in the transcript)"],
      ["Home End", "Start and end of the conversation"],
      ["↑ ↓", "Move through the core"],
      ["Enter", "Open a layer of the core"],
      ["Space", "Show the layer in the transcript"],
      ["Backspace", "Go up in the core"],
    ];
    void info.load();
    void branches.load();
    void core.load();
    const stops = [
      onChange(
        ["messages.appended", "turn.ended"],
        () => void Promise.all([transcript.follow(), info.load()]),
        () => info.data.value?.key,
      ),
      onChange(
        ["compaction", "messages.appended"],
        () => void core.load(),
        () => info.data.value?.key,
      ),
      onChange(
        ["session.updated", "session.renewed", "session.restored"],
        () => void info.load(),
        () => info.data.value?.key,
      ),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  useEffect(() => {
    if (at === null) void transcript.openEnd();
    else if (/^\d+$/.test(at)) void transcript.openAt(Number(at));
    else void transcript.openTime(at);
  }, [at]);

  const jump = (seq: number) => setQuery({ at: String(seq) }, false);
  const data = info.data.value;
  if (info.error.value !== undefined && !data) {
    return (
      <Empty title="This session cannot be shown" isPage>
        <p>{info.error.value}</p>
        <a class="button" href="/sessions">
          All sessions
        </a>
      </Empty>
    );
  }
  return (
    <div class="session-page">
      <SessionHeader keyName={key} data={data} onDone={() => void info.load()} onJump={jump} />
      <Fault text={transcript.fault.value} />
      <div class="session-columns">
        <Core
          core={core}
          view={view.value}
          onJump={(seq) => {
            const selected = core.selected.value;
            setQuery({ at: String(seq), summary: selected?.startsWith("sum_") ? selected : "" }, false);
          }}
        />
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: only buttons inside are handled, which have keys */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: only buttons inside are handled */}
        <div
          class="session-main"
          onClick={(event) => {
            const button = (event.target as Element).closest<HTMLElement>("[data-open-file]");
            if (button) file.value = button.dataset.openFile;
          }}
        >
          {summary !== undefined && (
            <SummaryPanel
              key={summary}
              id={summary}
              onOpen={(id) => setQuery({ summary: id }, false)}
              onJump={jump}
              onClose={() => setQuery({ summary: "" })}
            />
          )}
          {transcript.branch.value !== undefined && (
            <p class="notice row">
              This is branch {transcript.branch.value}, which is not the active one.
              <button
                type="button"
                class="button"
                onClick={() => {
                  transcript.branch.value = undefined;
                  void transcript.openEnd();
                }}
              >
                Back to the active branch
              </button>
            </p>
          )}
          {transcript.isLoaded.value && transcript.entries.value.length === 0 ? (
            <Empty title="Nothing was said here yet">
              <a class="button" href={`/talk?session=${encodeURIComponent(key)}`}>
                Talk
              </a>
            </Empty>
          ) : (
            <TranscriptView
              transcript={transcript}
              branches={branches.data.value}
              onView={(range) => (view.value = range)}
            />
          )}
        </div>
      </div>
      {file.value !== undefined && (
        <FileDialog key={file.value} id={file.value} onClose={() => (file.value = undefined)} />
      )}
    </div>
  );
}

interface HeaderProps {
  keyName: string;
  data: SessionInfo | undefined;
  onDone: () => void;
  onJump: (seq: number) => void;
}

function SessionHeader({ keyName, data, onDone, onJump }: HeaderProps) {
  const done = () => {
    onDone();
  };
  return (
    <header class="session-header">
      <div class="spread">
        <div class="grow">
          <h1>{data ? sessionTitle(data) : " "}</h1>
          {data && (
            <p class="soft small session-sub">
              <span class="mono">{data.key}</span>
              <span>{count(data.messageCount, "message")}</span>
              {data.totalTokens > 0 && <span>{formatCompact(data.totalTokens)} tokens used</span>}
              <span>
                last used <Time value={data.lastInteractionAt || data.updatedAt} />
              </span>
              {data.current === false && <span class="tag warn">earlier session</span>}
            </p>
          )}
        </div>
        <div class="row">
          <a class="button primary" href={`/sessions/${encodeURIComponent(keyName)}/context`}>
            What the model sees
          </a>
          <a class="button" href={`/talk?session=${encodeURIComponent(keyName)}`}>
            Talk
          </a>
          {data && <ThisIsMe sessionKey={data.key} audience={data.audience} />}
          {data && <SessionMenu session={data} onDone={done} />}
        </div>
      </div>
      <JumpBox keyName={keyName} onJump={onJump} />
    </header>
  );
}

/** Goes to a date, a citation, or the first message with a word. */
function JumpBox({ keyName, onJump }: { keyName: string; onJump: (seq: number) => void }) {
  const go = async (text: string) => {
    const citation = /^(?:msg)?#?(\d+)$/i.exec(text)?.[1];
    if (citation !== undefined) return onJump(Number(citation));
    if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) {
      return navigate(`?at=${encodeURIComponent(new Date(text.length === 10 ? `${text}T00:00` : text).toISOString())}`);
    }
    const seq = await attempt(() => findFirst(keyName, text));
    if (seq === undefined) say(`No message here has “${text}”.`);
    else onJump(seq);
  };
  return (
    <form
      class="row jump"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get("jump");
        if (typeof text === "string" && text.trim() !== "") void go(text.trim());
      }}
    >
      <input
        class="input grow"
        name="jump"
        aria-label="Jump to a date, a citation or the first match of a word"
        placeholder="Jump to 2026-05-01, msg#12, or the first match of a word"
      />
      <button type="submit" class="button">
        Jump
      </button>
      <button type="button" class="button" onClick={() => navigate(location.pathname)}>
        Newest
      </button>
    </form>
  );
}
