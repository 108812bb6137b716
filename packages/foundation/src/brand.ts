declare const brandOf: unique symbol;

/** A nominal type that only its constructor function can produce: `type UnitId = Brand<string, "UnitId">`. */
export type Brand<T, Name extends string> = T & { readonly [brandOf]: Name };
