import { raw } from '../../platform/database/sql.ts'

/**
 * The SQL condition that runs may start in a company: its status is active (not
 * paused and not archived), and no emergency stop is in force. The query must
 * select from `company`.
 */
export const isCompanyRunning = raw<boolean>`company.status = 'active' and company.stopped_at is null`
