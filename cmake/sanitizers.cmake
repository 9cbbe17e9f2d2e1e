# SENNIT_SANITIZE=address,undefined or =thread instruments everything built here. A report ends the program.
if(SENNIT_SANITIZE)
  add_compile_options(-fsanitize=${SENNIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SENNIT_SANITIZE})
endif()
