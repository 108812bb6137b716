/**
 * The functions of the class Greeter. Each receives the request payload and returns the response payload. `object` is the id
 * of the target object, or undefined. The caller receives the message of a thrown error.
 *
 * @type {Readonly<Record<string, (payload: Uint8Array, object: string | undefined) => Uint8Array | Promise<Uint8Array>>>}
 */
export const functions = {
  greet: (payload, object) => text(`Hello, ${object ?? (read(payload) || "world")}!`),
  shout: (payload) => text(read(payload).toUpperCase()),
  sum: (payload) => {
    /** @type {unknown} */
    const numbers = JSON.parse(read(payload));
    if (!Array.isArray(numbers) || !numbers.every((each) => typeof each === "number"))
      throw new TypeError("sum takes a JSON list of numbers");
    return text(String(numbers.reduce((a, b) => a + b, 0)));
  },
};

const text = (/** @type {string} */ value) => new TextEncoder().encode(value);
const read = (/** @type {Uint8Array} */ bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
