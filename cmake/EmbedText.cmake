# cmake -DINPUT=file -DOUTPUT=file.cpp -DHEADER=header.h -DVARIABLE=name -P EmbedText.cmake: a text file as a string.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nconst char *const ${VARIABLE} = R\"embedded(${text})embedded\";\n")
