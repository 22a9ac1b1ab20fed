autocmd BufRead,BufNewFile *.skim setfiletype skim
