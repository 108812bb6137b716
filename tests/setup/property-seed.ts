import fc from "fast-check";

/**
 * Property tests use a fixed seed, so that a failure is caused by the change; `npm run sweep` uses a new seed each
 * time. A case found there becomes a test.
 */
if (process.env["OAAS_SWEEP"] !== "full") fc.configureGlobal({ seed: 20_261_115 });
