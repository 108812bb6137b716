/**
 * Where a follower of events is: `<revision>.<epoch>.<sequence>`.
 *
 * The sequence counts the events of one process, whose epoch it is. The revision is one of the store up to which every stored change had been told
 * before: another process, or this one after a restart, goes on from there with what is stored, and may tell a little twice.
 */
export interface EventPosition {
  readonly revision: number;
  readonly epoch: string;
  readonly sequence: number;
}

const FORM = /^(\d{1,15})\.([0-9a-z]{1,32})\.(\d{1,15})$/;

export function formatEventId({ revision, epoch, sequence }: EventPosition): string {
  return `${revision}.${epoch}.${sequence}`;
}

/** Undefined for what is none of ours. */
export function parseEventId(text: string): EventPosition | undefined {
  const [, revision, epoch, sequence] = FORM.exec(text) ?? [];
  if (revision === undefined || epoch === undefined || sequence === undefined) return undefined;
  return { revision: Number(revision), epoch, sequence: Number(sequence) };
}
