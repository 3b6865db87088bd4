/* SPDX-License-Identifier: Apache-2.0 */
/* asan.h - HAS_ASAN: is this built with the address sanitizer? gcc and clang say so in different ways. */
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif
