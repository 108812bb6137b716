/**
 * The position of a follower: `<revision>.<epoch>.<sequence>`.
 *
 * The sequence counts the events of one process, identified by the epoch. The revision is a store revision up to which all
 * changes were sent before: another process, or this one after a restart, resumes stored topics there and may repeat some.
 */
export interface EventPosition {
  readonly revision: number;
  readonly epoch: string;
  readonly sequence: number;
}

const PATTERN = /^(\d{1,15})\.([0-9a-z]{1,32})\.(\d{1,15})$/;

export function formatEventId({ revision, epoch, sequence }: EventPosition): string {
  return `${revision}.${epoch}.${sequence}`;
}

/** Undefined if the text is not an event id. */
export function parseEventId(text: string): EventPosition | undefined {
  const [, revision, epoch, sequence] = PATTERN.exec(text) ?? [];
  if (revision === undefined || epoch === undefined || sequence === undefined) return undefined;
  return { revision: Number(revision), epoch, sequence: Number(sequence) };
}
