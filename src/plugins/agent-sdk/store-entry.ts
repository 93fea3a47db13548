/** A line of a transcript: any JSON object with a type. */
export interface StoreEntry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [field: string]: unknown;
}
