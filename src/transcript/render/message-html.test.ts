import { expect, it } from "vitest";
import { renderMarkdown } from "./markdown-html.ts";
import { renderMessage } from "./message-html.ts";

it("renders Markdown, and shows HTML as text", () => {
  const html = renderMarkdown("**bold** <img src=x onerror=alert(1)>\n\n<script>alert(1)</script>");
  expect(html).toContain("<strong>bold</strong>");
  expect(html).not.toMatch(/<(?:img|script)/);
  expect(html).toContain("&lt;script&gt;");
});

it("opens links in another tab without a referrer, with their host, and shows other schemes as text", () => {
  const html = renderMarkdown("[click](https://example.org/a) [bad](javascript:alert(1)) [worse](data:text/html,x)");
  expect(html).toContain('<a href="https://example.org/a" rel="noopener noreferrer" target="_blank">click</a>');
  expect(html).toContain("(example.org)");
  expect(html).not.toMatch(/href="(?:javascript|data)/);
});

it("names images of other hosts instead of fetching them, and shows images in the message", () => {
  expect(renderMarkdown("![secret](https://example.org/a.png)")).not.toContain("<img");
  const image = {
    type: "image" as const,
    mediaType: "image/png",
    source: { kind: "base64" as const, data: "iVBORw0K" },
  };
  expect(renderMessage({ content: [image] })).toContain('src="data:image/png;base64,iVBORw0K"');
  const svg = { ...image, mediaType: "image/svg+xml" };
  expect(renderMessage({ content: [svg] })).not.toContain("<img");
});

it("folds tool calls with name and size, and says how much of a long output is not shown", () => {
  const call = { type: "tool_call" as const, callId: "c", name: "bash", input: { command: "ls" } };
  expect(renderMessage({ content: [call] })).toMatch(
    /<details class="part call"><summary>Calls <code>bash<\/code>.*characters/,
  );
  const result = { type: "tool_result" as const, callId: "c", name: "bash", output: "x".repeat(30_000) };
  expect(renderMessage({ content: [result] })).toContain("10,000 more characters are in the log.");
});

it("shows text that is nested too deep as plain text, at once", () => {
  const html = renderMarkdown(`${"> ".repeat(5_000)}deep`);
  expect(html).toMatch(/^<p class="plain">/);
});

it("shows a text with a very long gap as it is, because the parser would take long", () => {
  const html = renderMarkdown(`**a**${" ".repeat(5_000)}b`);
  expect(html).toContain("**a**");
  expect(renderMarkdown(`**a**${" ".repeat(500)}b`)).toContain("<strong>a</strong>");
});
