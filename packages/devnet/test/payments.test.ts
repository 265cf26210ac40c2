import { testPayments } from "./payment-suite.ts";

testPayments({});
