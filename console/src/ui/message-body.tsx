/** Shows a message by the renderer that the HTML export uses, sanitised once more before it enters the page. */
import DOMPurify from "dompurify";
import { useEffect, useRef } from "preact/hooks";
import type { Message } from "../../../src/domain/message.ts";
import { renderMarkdown } from "../../../src/transcript/render/markdown-html.ts";
import { renderMessage } from "../../../src/transcript/render/message-html.ts";
import { linkCitations } from "./citations.ts";
import { highlightCode } from "./highlight.ts";

const allowed = {
  ALLOWED_TAGS:
    "a b blockquote br code del details div em h1 h2 h3 h4 h5 h6 hr i img li ol p pre s span strong sub summary sup table tbody td th thead tr ul".split(
      " ",
    ),
  ALLOWED_ATTR: ["href", "rel", "target", "class", "src", "alt", "data-file", "start", "align", "tabindex"],
  ALLOW_DATA_ATTR: false,
};

function fill(element: HTMLElement, html: string): void {
  const fragment = DOMPurify.sanitize(html, { ...allowed, RETURN_DOM_FRAGMENT: true });
  element.replaceChildren(fragment);
  // Attributes are checked after the sanitiser: images must be inline, links must not tell where they were opened.
  for (const image of element.querySelectorAll("img")) if (!image.src.startsWith("data:image/")) image.remove();
  for (const link of element.querySelectorAll("a")) {
    link.rel = "noopener noreferrer";
    link.target = "_blank";
  }
  addFileButtons(element);
  linkCitations(element);
  highlightCode(element);
}

function addFileButtons(element: HTMLElement): void {
  for (const large of element.querySelectorAll<HTMLElement>("[data-file]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = "Open the whole content";
    button.dataset.openFile = large.dataset.file ?? "";
    large.append(button);
  }
}

export function MessageBody({ message }: { message: Pick<Message, "content"> }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (ref.current) fill(ref.current, renderMessage(message));
  }, [message]);
  return <div class="message-body" ref={ref} />;
}

export function Markdown({ text }: { text: string }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (ref.current) fill(ref.current, `<div class="prose">${renderMarkdown(text)}</div>`);
  }, [text]);
  return <div class="message-body" ref={ref} />;
}
