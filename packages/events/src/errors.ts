/** Another process, or another log of this one, has the log open. */
export class EventLogInUse extends Error {
  override readonly name = "EventLogInUse";

  constructor() {
    super("another service has the event log open");
  }
}

/** The store is an older copy than the one this folder has seen: sequence numbers would be used twice. */
export class EventLogRolledBack extends Error {
  override readonly name = "EventLogRolledBack";

  constructor() {
    super("the event log is an older copy of itself");
  }
}
