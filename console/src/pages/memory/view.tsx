export function MemoryPage(_: { session: string }) {
  return null;
}
