// Loaded before a program (node --import): shifts the wall clock by CLOCK_SHIFT_MS until SIGUSR2, as a clock correction
// would.
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
