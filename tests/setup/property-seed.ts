import fc from "fast-check";

/**
 * Property tests draw the same cases in every ordinary run, so that a gate is green or red for a reason in the change; `npm run sweep` draws new
 * ones each time. A case found there becomes a test of its own.
 */
if (process.env["OAAS_SWEEP"] !== "full") fc.configureGlobal({ seed: 20_261_115 });
