/** Formats a share with at most nine digits, truncated so that it never looks better than it is. */
export function formatShare(share: number): string {
  return String(truncateShare(share, 9));
}

/** Truncates a share. The offset compensates binary fractions, so that 0.29 stays 29 hundredths. */
export function truncateShare(share: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.floor(share * scale + 1e-6) / scale;
}

/** A count with its noun. */
export function pluralize(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Formats an age in seconds, minutes or hours. */
export function formatAge(ageMs: number): string {
  const seconds = Math.round(ageMs / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
