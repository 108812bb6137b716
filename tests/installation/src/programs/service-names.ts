/**
 * Preloaded into programs that run without cluster DNS: the names of Services are loopback addresses, as the JSON in
 * OAAS_TEST_SERVICES says.
 */
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";

type Callback = (
  error: Error | null,
  address?: string | { address: string; family: number }[],
  family?: number,
) => void;

const services = JSON.parse(process.env["OAAS_TEST_SERVICES"] ?? "{}") as Readonly<Record<string, string>>;
const lookup = dns.lookup as unknown as (name: string, options: unknown, callback: Callback) => void;

Object.assign(dns, {
  lookup: (name: string, given: unknown, last?: Callback): void => {
    const callback = last ?? (given as Callback);
    const options = last === undefined ? {} : (given as { readonly all?: boolean } | number);
    const address = services[name];
    if (address === undefined) lookup(name, options, callback);
    else if (typeof options === "object" && options.all === true) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  },
});

// The gRPC client resolves names with promises.
const lookupLater = dns.promises.lookup as unknown as (name: string, options?: unknown) => Promise<unknown>;
Object.assign(dns.promises, {
  lookup: async (name: string, options?: { readonly all?: boolean }): Promise<unknown> => {
    const address = services[name];
    if (address === undefined) return lookupLater(name, options);
    return options?.all === true ? [{ address, family: 4 }] : { address, family: 4 };
  },
});
syncBuiltinESMExports();
