/** The path of the Prometheus HTTP API below the base URL. */
export const API_PATH = "/api/v1";
