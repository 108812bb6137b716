const LN2_HIGH = 6.931_471_803_691_238_164_9e-1;
const LN2_LOW = 1.908_214_929_270_587_700_02e-10;
const COEFFICIENTS = [
  1.666_666_666_666_666_574_15e-1, -2.777_777_777_701_559_338_42e-3, 6.613_756_321_437_934_361_17e-5,
  -1.653_390_220_546_525_153_9e-6, 4.138_136_797_057_238_460_39e-8,
] as const;

/**
 * 2 to the power of x, computed as Go does. `2 ** x` may differ in the last bit, and then percentiles of equal samples
 * fall into another bucket than in VPA.
 */
export function exp2(x: number): number {
  const exponent = Math.trunc(x > 0 ? x + 0.5 : x - 0.5);
  const fraction = x - exponent;
  const high = fraction * LN2_HIGH;
  const low = -fraction * LN2_LOW;
  const r = high - low;
  const t = r * r;
  const [p1, p2, p3, p4, p5] = COEFFICIENTS;
  const c = r - t * (p1 + t * (p2 + t * (p3 + t * (p4 + t * p5))));
  return (1 - (low - (r * c) / (2 - c) - high)) * 2 ** exponent;
}
