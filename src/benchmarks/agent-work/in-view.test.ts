import { describe, expect, it } from "vitest";
import type { Message } from "../../index.ts";
import type { CheckItem } from "./checks.ts";
import {
  isCheckInView,
  isErrorInView,
  isFileInView,
  isLiteralInView,
  isSentenceInView,
  isTodoInView,
} from "./in-view.ts";
import { readViewText } from "./view-text.ts";

const view = (...texts: string[]) => readViewText(texts.map((content): Message => ({ role: "user", content })));

describe("a file", () => {
  const cart = { path: "/srv/app/src/cart/index.ts" };
  const total = { path: "src/cart/total.ts" };
  const files = [cart.path, "src/menu/index.ts", total.path];

  it("is in view by its path, by a suffix with its folder, and by a name that no other file has", () => {
    expect(isFileInView(cart, files, view("edited /srv/app/src/cart/index.ts"))).toBe(true);
    expect(isFileInView(cart, files, view("edited cart/index.ts twice"))).toBe(true);
    expect(isFileInView(total, files, view("- total.ts (edited)"))).toBe(true);
  });

  it("is not in view by a name that two files have, by its folder, or inside a longer name", () => {
    expect(isFileInView(cart, files, view("edited index.ts"))).toBe(false);
    expect(isFileInView(total, files, view("everything in src/cart changed"))).toBe(false);
    expect(isFileInView(total, files, view("subtotal.ts and total.tsx"))).toBe(false);
  });
});

describe("a todo", () => {
  const todo = { text: "Mark finished orders as done", state: "active" } as const;

  it("is in view with a mark of its state on the same line", () => {
    expect(isTodoInView(todo, view("- [~] Mark finished orders as done"))).toBe(true);
    expect(isTodoInView(todo, view("In progress: mark finished  orders as done"))).toBe(true);
  });

  it("is in view as the call that wrote it", () => {
    const input = {
      todos: [
        { content: todo.text, status: "in_progress" },
        { content: "Ship it", status: "pending" },
      ],
    };
    const call: Message = {
      role: "assistant",
      content: [{ type: "tool_call", callId: "a", name: "TodoWrite", input }],
    };
    expect(isTodoInView(todo, readViewText([call]))).toBe(true);
    expect(isTodoInView({ text: "Ship it", state: "done" }, readViewText([call]))).toBe(false);
  });

  it("is not in view without its state, with another state, or with a mark on another line", () => {
    expect(isTodoInView(todo, view("Mark finished orders as done"))).toBe(false);
    expect(isTodoInView(todo, view("[x] Mark finished orders as done"))).toBe(false);
    expect(isTodoInView(todo, view("Mark finished orders as done\n[~] something else"))).toBe(false);
  });
});

describe("a check", () => {
  const check: CheckItem = {
    kind: "test",
    command: "npx vitest run src/cart",
    outcome: "fail",
    callId: "c1",
    line: "cd app && npx vitest run src/cart",
  };

  it("is in view when a line states the command and its outcome", () => {
    expect(isCheckInView(check, view("vitest run src/cart: failed, 2 tests"))).toBe(true);
    expect(isCheckInView({ ...check, outcome: "pass" }, view("✓ npx vitest run src/cart"))).toBe(true);
    expect(isCheckInView({ ...check, outcome: "pass" }, view("vitest src/cart passed with 0 errors"))).toBe(true);
  });

  it("is not in view with the other outcome, another command, or the outcome on another line", () => {
    expect(isCheckInView(check, view("vitest run src/cart passed, 0 failed"))).toBe(false);
    expect(isCheckInView(check, view("vitest run src/menu failed"))).toBe(false);
    expect(isCheckInView(check, view("vitest run src/cart\nfailed"))).toBe(false);
    expect(isCheckInView(check, view("npx vitest run src/cart | grep -i 'error|failed'"))).toBe(false);
    expect(isCheckInView({ ...check, outcome: "pass" }, view("vitest src/cart: 3 passed, 1 failed"))).toBe(false);
  });

  it("is in view as a call with a result that shows its outcome", () => {
    const messages = (output: string): Message[] => [
      {
        role: "assistant",
        content: [{ type: "tool_call", callId: "c1", name: "Bash", input: { command: check.line } }],
      },
      { role: "tool", content: [{ type: "tool_result", callId: "c1", output, isError: true }] },
    ];
    expect(isCheckInView(check, readViewText(messages("Exit code 1\nFAIL src/cart")))).toBe(true);
    expect(isCheckInView({ ...check, outcome: "pass" }, readViewText(messages("Exit code 1")))).toBe(false);
    expect(isCheckInView(check, readViewText(messages("Exit code 1").slice(0, 1)))).toBe(false);
  });
});

describe("a request or decision", () => {
  const request = "Please round the totals of Swiss francs to five cents in the checkout.";

  it("is in view when most of its words are on one line", () => {
    expect(isSentenceInView(request, view("user: round totals of Swiss francs to five cents"))).toBe(true);
    expect(isSentenceInView("バックアップを直してください", view("依頼: バックアップを直してください"))).toBe(true);
  });

  it("is not in view when its words are spread over a long message, or only some are there", () => {
    const filler = "nothing of interest happened on this line of the log\n".repeat(25);
    expect(isSentenceInView(request, view(`round the totals\n${filler}Swiss francs\n${filler}five cents`))).toBe(false);
    expect(isSentenceInView(request, view("the checkout uses Swiss francs"))).toBe(false);
  });

  it("needs all words when it has fewer than three", () => {
    expect(isSentenceInView("delete the nord theme", view("we deleted it, delete nord theme"))).toBe(true);
    expect(isSentenceInView("run migrations", view("the migrations are old"))).toBe(false);
  });
});

describe("an error with its fix", () => {
  const error = {
    cause: "src/cart.ts(4,2): error TS2304: Cannot find name 'useCart'.",
    callId: "e1",
    fix: { files: ["src/hooks/use-cart.ts"], commands: [], callIds: ["f1"] },
  };

  it("is in view when the cause is stated and the fix is on the same line or near it", () => {
    expect(isErrorInView(error, view("TS2304 cannot find name useCart in src/cart.ts → use-cart.ts"))).toBe(true);
    expect(isErrorInView(error, view(`${error.cause}\n\nFixed by:\nsrc/hooks/use-cart.ts`))).toBe(true);
  });

  it("is in view when the fixing call is shown itself", () => {
    const call: Message = {
      role: "assistant",
      content: [{ type: "tool_call", callId: "f1", name: "edit", input: { path: "x.ts" } }],
    };
    expect(isErrorInView(error, readViewText([{ role: "tool", content: error.cause }, call]))).toBe(true);
  });

  it("is not in view without its fix, or with the fix far away", () => {
    expect(isErrorInView(error, view(error.cause))).toBe(false);
    expect(isErrorInView(error, view(`${error.cause}\na\nb\nc\nd\nuse-cart.ts`))).toBe(false);
    expect(isErrorInView(error, view("an error in use-cart.ts"))).toBe(false);
  });
});

describe("a literal", () => {
  it.each([
    ["8443", "port 8443 is open"],
    ["50,000", "at most 50000 rows"],
    ["120ms", "a delay of 120 ms"],
    ["#B5BD68", "green is #b5bd68."],
    ["src/a.ts", "edit ./src/a.ts"],
    ["DOCS_TTL", "DOCS_TTL=5"],
    ["3 replicas", "with 3 replicas"],
  ])("%s is in view in: %s", (literal, text) => {
    expect(isLiteralInView({ literal }, view(text))).toBe(true);
  });

  it.each([
    ["8443", "port 18443 and 84430"],
    ["0.5", "0.55 of 10.5"],
    ["120ms", "120 seconds"],
    ["42", "version 42.1"],
    ["jobID", "jobIDs and myjobID"],
    ["3 replicas", "3 workers and 13 replicas"],
  ])("%s is not in view in: %s", (literal, text) => {
    expect(isLiteralInView({ literal }, view(text))).toBe(false);
  });
});

describe("the text of a view", () => {
  it("reads through the escaped markup of a summary", () => {
    const summary = view(
      '<summary id="s">\n<content>\nnpm run a &amp;&amp; npm run b -&gt; ok\n</content>\n</summary>',
    );
    expect(summary.text).toContain("npm run a && npm run b -> ok");
  });
});
