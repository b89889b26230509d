import { hashPasswordJob, verifyPasswordJob } from './access/auth/password-jobs.ts'
import { checkDatabaseJob } from './clients/doctor/database-check.ts'
import { serveJobs } from './platform/database/reader-thread.ts'
import { readPackageJob } from './portability/read/read-package.ts'
import { findIssuesJob } from './work/issue/find.ts'
import { searchJob } from './work/search/search.ts'

// The entry point of the reader's thread: see src/platform/database/reader.ts.
serveJobs([searchJob, findIssuesJob, checkDatabaseJob, hashPasswordJob, readPackageJob, verifyPasswordJob])
