/** As in the JSON of Prometheus: the shortest decimal, with an exponent of two digits below 1e-6 and from 1e21. */
export function formatValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const text = Object.is(value, -0) ? "-0" : String(value);
  const [digits = "", exponent] = text.split("e");
  if (exponent === undefined) return text;
  const power = Math.abs(Number(exponent));
  return `${digits}e${Number(exponent) < 0 ? "-" : "+"}${String(power).padStart(2, "0")}`;
}

/** The shortest decimal without an exponent. */
export function formatPlain(value: number): string {
  const text = formatValue(value);
  const [digits = "", exponent] = Number.isFinite(value) ? text.split("e") : [text];
  if (exponent === undefined) return text;
  const sign = digits.startsWith("-") ? "-" : "";
  const [whole = "", fraction = ""] = digits.slice(sign.length).split(".");
  const power = Number(exponent);
  return power < 0
    ? `${sign}0.${"0".repeat(-power - 1)}${whole}${fraction}`
    : sign + whole + fraction.padEnd(power, "0");
}
