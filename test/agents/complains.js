// Says on standard error why it fails. Usage: complains.js <exit code>
process.stderr.write(
  '\x1b[91m\x1b[1mError: \x1b[0mCODEX_HOME points to /nowhere\n\nUsage: program [OPTIONS]\n       program COMMAND\n\nFor more information, try --help.\n',
)
process.exitCode = Number(process.argv[2])
