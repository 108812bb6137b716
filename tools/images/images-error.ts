/** A failure with a known fix, which is shown without a stack. */
export class ImagesError extends Error {}
