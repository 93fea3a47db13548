export function TalkPage(_: { session: string }) {
  return null;
}
