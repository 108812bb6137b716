declare const brandOf: unique symbol;

/** A type that only its own maker can produce: `type UnitId = Brand<string, "UnitId">`. */
export type Brand<T, Name extends string> = T & { readonly [brandOf]: Name };
