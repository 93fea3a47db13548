/** Whether `VARVE_TEST_LONG=1` asks for the long form of tests that repeat something many times. */
export const isLongRun = process.env.VARVE_TEST_LONG === "1";
