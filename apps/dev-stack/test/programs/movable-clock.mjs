// Loaded before a program (node --import): a wall clock that can be moved, as an administrator or a time server moves it.
// CLOCK_SHIFT_MS says how far off it is from the beginning; SIGUSR2 sets it right.
import process from "node:process";

const RealDate = Date;
let shift = Number(process.env["CLOCK_SHIFT_MS"] ?? 0);

globalThis.Date = class extends RealDate {
  /** @param {[]} given */
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shift;
  }
};
process.on("SIGUSR2", () => (shift = 0));
