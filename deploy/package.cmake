# The Debian packages: slipway, the client alone, and slipway-server. `deploy/package` makes them; docs/decisions/0100 says why so.
if(SLIPWAY_TESTS)    # its programs may be built with sanitizers, or not at all
  return()
endif()
set(lib lib/slipway)
set(staged ${CMAKE_BINARY_DIR}/package)    # what deploy/package makes with the programs: manual pages, completion, the example

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME server)
install(TARGETS slipway RUNTIME DESTINATION bin COMPONENT client)
install(DIRECTORY ${staged}/client/ DESTINATION share COMPONENT client)

install(TARGETS slipwayd slipway-executor slipway-confine slipway-slurm-start slipway-glyphs slipway-compiler slipway-collectives
  RUNTIME DESTINATION ${lib} LIBRARY DESTINATION ${lib})
if(TARGET slipway-kernels-v3)
  install(TARGETS slipway-kernels-v3 LIBRARY DESTINATION ${lib})
  install(TARGETS slipway-kernels-v4 LIBRARY DESTINATION ${lib}/glibc-hwcaps/x86-64-v4)
endif()
install(DIRECTORY ${staged}/server/ DESTINATION share)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/example-dataset.json ${CMAKE_CURRENT_LIST_DIR}/example-job.json DESTINATION share/slipway/example)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/grafana/slipway.json ${CMAKE_CURRENT_LIST_DIR}/prometheus/alerts.yml DESTINATION share/slipway/monitoring)
install(DIRECTORY ${staged}/bin DESTINATION .)
install(FILES ${staged}/slipway.service DESTINATION /lib/systemd/system)
install(PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/debian/slipway.init DESTINATION /etc/init.d RENAME slipway)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian/slipwayd.toml DESTINATION /etc/slipway)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME slipway)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(SLIPWAY_MAINTAINER "Slipway <root@localhost>" CACHE STRING "Who makes the packages: name and address")
set(CPACK_PACKAGE_CONTACT "${SLIPWAY_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL client server)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME slipway)
set(CPACK_DEBIAN_CLIENT_DESCRIPTION "command line of Slipway, a service for training neural networks
Submits jobs, sweeps and cross-validations to a Slipway service, follows them
and downloads their results.")
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME slipway-server)
set(CPACK_DEBIAN_SERVER_DESCRIPTION "self-hosted service for training neural networks
Queues training jobs over HTTP, runs them on the virtual cores of this machine
or of several hosts, and streams their metrics, logs and checkpoints.
.
It needs a processor of the level x86-64-v3 (AVX2, FMA).")
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS "slipway (= ${PROJECT_VERSION}), adduser, init-system-helpers (>= 1.51), postgresql")
set(CPACK_DEBIAN_SERVER_PACKAGE_RECOMMENDS libarchive13)
foreach(script preinst postinst prerm postrm)
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/debian/${script})
    list(APPEND CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/${script})
  endif()
endforeach()
list(APPEND CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/conffiles)
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
