process.stdout.write('done\n')
